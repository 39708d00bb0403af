# The resident: a bash in a container that starts one script at a time, and ends what it leaves.
#
# Nothing but bash is needed; setsid(1) is used where the image has it. The host speaks on
# standard input, a length and as many bytes of shell each time. What is said back goes among
# the script's own output, behind a NUL and a word that only the host and this shell know:
#
#     ready             it waits for a script
#     begun             a script runs, and did so a moment ago
#     unstarted WHY     nothing runs
#     state JOBS-LINE   how bash describes the script's end: status 137 alone tells no signal
#     starved           the kernel killed something for want of memory
#     exited STATUS     the shell is reaped
#     unseen            who attended to the script is gone
#     gone LEFT STATUS  nothing of the call is left, or LEFT processes that cannot be killed; with
#                       STATUS if that was not said before
#
# Streams that are kept apart travel apart, so there everything is said on both.
#
# All that a script starts inherits its mark, a hard limit on file locks (see nacre.process.marks).
# Without a word from the host for $1 seconds, or at the end of its input, everything is ended.

locale=$LC_ALL_WAS patience=$1
unset NACRE_HOUSE LC_ALL_WAS code n
exec 3>&1 4>&2 >/dev/null 2>&1
# A host that hung up must not kill this shell before it has ended the script.
trap '' PIPE
# In posix mode, which an image may ask for, a trap interrupts a wait. Scripts have it all the same.
posix=''
[[ -o posix ]] && posix="set -o posix${POSIXLY_CORRECT+; export POSIXLY_CORRECT=${POSIXLY_CORRECT@Q}}"
set +o posix
mark='' word='' separate='' live='' attended='' steward='' back='' spare='' source='' killed=''
declare -A dead
# An image may have variables of the same names; no script is to be told what ours hold.
export -n locale patience posix mark word separate live attended steward back spare source killed dead
export -n found groups sure hard memory session unmarked own note silent part begun heard never
export -n calls length request limit STEWARD STEWARD_PID SPARE SPARE_PID

say() { # KIND REST
  [[ $separate ]] && printf '\0%s %s %s\n' "$word" "$1" "$2" >&4
  printf '\0%s %s %s\n' "$word" "$1" "$2" >&3
}

# -- the resident: it hears the host, and passes scripts on ------------------

begin() { # MARK WORD STREAMS LIVE and what else the steward is told
  heed
  mark=$1 word=$2 separate=$3 live=$4 attended=yes begun=''
  # A script of another call may have stopped it, or ended it.
  kill -s CONT "$steward"
  pass_on "${STEWARD[1]}" || { employ && pass_on "${STEWARD[1]}"; }
}

pass_on() { # DESCRIPTOR
  [[ $1 ]] && printf '%s\n%s' "$length" "$request" >&"$1"
}

# Starts who attends to scripts: one that waits for a shell hears nothing else.
employ() {
  [[ $back ]] && exec {back}<&-
  coproc STEWARD { attend_all; }
  steward=$STEWARD_PID
  # Bash would close its own when the steward ends, with what it said last.
  exec {back}<&"${STEWARD[0]}"
}

# Hears what the steward said since: `gone`, if it said so to the host; `left`, if the host says when
# the script's processes are to end.
heed() {
  local line
  while [[ $back ]] && read -r -t 0 -u "$back" && IFS= read -r -t 1 -u "$back" line; do
    attended=''
    [[ $line == gone ]] && mark=''
  done
}

# -- the steward: it starts one script at a time, and says how it ended ------

# Each script's shell is started before it is known, while nobody waits: it leads a session already.
attend_all() {
  # What is ignored here could not be had back for a script, after the first.
  trap - INT QUIT
  source="$(declare -f become)
    begin() { become \"\$@\"; }
    locale=\$1
    unset LC_ALL_WAS n code
    export -n locale limit length request
    IFS= read -r length && IFS= read -r -N \"\$length\" request && eval \"\$request\"
    exit 0"
  begin() { attend "$@"; }
  while
    prepare
    IFS= read -r length && IFS= read -r -N "$length" request
  do
    eval "$request"
  done
}

prepare() {
  [[ $spare ]] && return
  ((calls++ % 16)) || take_notes
  coproc SPARE { lead; } {note}>&- {never}>&-
  spare=$SPARE_PID
  [[ $spare ]] && printf '%s\n%s' "${#source}" "$source" >&"${SPARE[1]}"
}

lead() {
  trap - PIPE INT QUIT
  eval "$posix"
  exec ${session:+"$session"} bash -c "$BASH_EXECUTION_STRING" nacre-spare "$locale" >/dev/null
}

attend() { # MARK WORD STREAMS LIVE FOLDER LIMITS INPUT SCRIPT [NAME=VALUE]...
  mark=$1 word=$2 separate=$3 live=$4
  if ! cd -- "$5"; then
    say unstarted "the folder $5 cannot be entered"
    echo left
    return
  fi
  # For what the shell died of, which is forgotten after `wait`. No loop may run until then: the end of
  # each turn forgets it too, and during a `continue` no trap does what it says.
  trap 'jobs -l >&"$note"' CHLD
  if ! pass_on "${SPARE[1]}"; then
    spare='' && prepare
    pass_on "${SPARE[1]}" || { say unstarted "no shell can be started" && echo left && return; }
  fi
  # A script of another call may have stopped it.
  kill -s CONT "$spare"
  local killed_before
  count_killed && killed_before=$killed
  # If the signal comes when it has begun and does not wait yet, the trap is late, but bash itself tells.
  wait "$spare" 2>&"$note"
  local status=$?
  trap - CHLD
  spare=''
  ((status > 128)) && say_state
  ((status == 0)) || { count_killed && ((killed != killed_before)) && say starved ''; }
  if [[ ! $live ]]; then
    # First to the host: who ends the call says `gone` as soon as it has read this.
    say exited "$status"
    echo left
    return
  fi
  # shellcheck disable=SC2086
  kill_all $live
  echo gone
  # In one go: each word has a way of its own through the engine.
  say gone "${#found[@]} $status"
}

# What was noted of calls that died of nothing is still there, and is passed over.
say_state() {
  local line described=''
  printf '%s\n' "$word" >&"$note"
  while IFS= read -r -t 1 line <&"$note" && [[ $line != "$word" ]]; do described=$line; done
  say state "$described"
}

# -- the shell that was started before: it becomes the script's --------------

become() { # MARK WORD STREAMS LIVE FOLDER LIMITS INPUT SCRIPT [NAME=VALUE]...
  cd -- "$5" || exit 126
  if [[ $3 ]]; then exec >&3 2>&4; else exec >&3 2>&3; fi
  exec 3>&- 4>&-
  {
    echo 500 >/proc/self/oom_score_adj
    for limit in $6; do ulimit -"${limit%%=*}" "${limit#*=}"; done
  } 2>/dev/null
  ulimit -Sx "$1" && ulimit -Hx "$1" || exit 126
  # From here on it is found. If who started it was ended before, nobody would look again.
  kill -s 0 "$PPID" || exit 126
  if [[ $locale == unset ]]; then unset LC_ALL; else LC_ALL=$locale; fi
  unset OLDPWD SHLVL
  if [[ $7 ]]; then exec < <(printf %b "$7"); else exec </dev/null; fi
  # The script's variables may have any name; what is ours has none by now.
  set -- "$8" "${@:9}"
  (($# > 1)) && export -- "${@:2}"
  exec bash -c "$1"
}

# -- the processes of a call --------------------------------------------------

# Sets `hard` to the limit that marks a process.
hard_limit() { # FOLDER
  local line
  mapfile -t -s 11 -n 1 line <"$1/limits" || return
  # shellcheck disable=SC2206
  line=(${line[0]})
  hard=${line[4]}
}

# Sets `killed` to how many processes the kernel killed in here for want of memory, if it tells.
count_killed() {
  local lines
  [[ $memory ]] && mapfile -t lines <"$memory" || return
  killed=" ${lines[*]}"
  killed=${killed##* oom_kill }
  killed=${killed%% *}
}

# Sets `found` to the live processes of a call, and `groups` to theirs; `sure` is empty if there may
# be others. A mark can be lowered, but not raised. So what has a lower one than this, which is not in
# use, has shed its own; what began later has a higher one. In place of the marks in use stands
# "ours" where other hosts have calls, whose marks look like these; and "any" where others have
# processes, which may have any limit.
carriers() { # MARK LIVE...
  found=() groups=() sure=yes
  local folder hard state tasks
  for folder in /proc/[0-9]*; do
    # What ended since the list was made may have left another that is not in it.
    hard_limit "$folder" || { sure='' && continue; }
    [[ $hard == "$unmarked" ]] && continue
    if ((hard != $1 && (hard | 0xffffff) != $1)); then
      [[ $2 == any ]] && continue
      [[ $2 == ours ]] && ((hard >> 62 == 1)) && continue
      ((hard > $1)) && continue
      [[ " $* " == *" $((hard | 0xffffff)) "* ]] && continue
    fi
    read -r state <"$folder/stat" || { sure='' && continue; }
    # shellcheck disable=SC2206
    state=(${state##*) })
    if [[ ${state[0]} == [ZX] ]]; then
      # It ended just now, too; but some first processes never reap.
      [[ ${dead[$folder]} ]] || sure=''
      dead[$folder]=yes
      # If only its first thread ended, its others may live.
      tasks=("$folder"/task/*)
      ((${#tasks[@]} > 1)) || continue
    fi
    found+=("${folder#/proc/}")
    # Who forks to flee stays in its group, and the kernel ends a group at once.
    ((state[2] > 1 && state[2] != own)) && groups+=("-${state[2]}")
  done
}

tell() { # SIGNAL LIVE...
  heed
  [[ $mark ]] || return # it is over already
  carriers "$mark" "${@:2}"
  ((${#found[@]})) && kill -s "$1" "${found[@]}"
}

# Sets `found` to what cannot be killed. One that forks while others are killed leaves another,
# and that one is next. It is sure that none is left if nothing was started while it looked; where
# others start something all the time, it takes several looks.
kill_all() { # LIVE...
  local tries calm=0 none=0 busy=1 last_before last_after
  [[ $* == "$mark" ]] && busy=0
  dead=()
  for ((tries = 0; tries < 600 && calm < 3; tries++)); do
    # The last number that was given to a process in here.
    read -r _ _ _ _ last_before </proc/loadavg
    # Most leave nothing: then there are the first process, the resident, and who attends.
    found=(/proc/[0-9]*) sure=yes
    if ((${#found[@]} == 3)) && [[ -e /proc/$$ && $BASHPID != "$$" ]]; then
      found=()
    else
      carriers "$mark" "$@"
    fi
    read -r _ _ _ _ last_after </proc/loadavg
    if ((${#found[@]})); then
      kill -s KILL -- "${found[@]}" "${groups[@]}"
      calm=0 none=0
    elif [[ $sure ]]; then
      if [[ $last_before == "$last_after" ]]; then calm=3; else ((calm++)); fi
    fi
    ((none++))
    ((tries > 20 && ${#found[@]})) && pause 0.005
  done
  # Where others are busy, what comes and goes is theirs.
  ((calm == 3 || (none > 300 && busy))) || found+=(0)
}

end() { # LIVE...
  heed
  [[ $mark ]] || return # it is over already
  local said='' part heard='' tries
  # A script may have stopped it, or keep it from writing its notes.
  kill -s CONT "$steward"
  kill_all "$@"
  # The script's shell may not have had its mark yet.
  for ((tries = 0; tries < 300; tries++)); do
    [[ $attended ]] && ((!${#found[@]})) || break
    # What was heard of a line until the time was up is its beginning.
    IFS= read -r -t 0.01 -u "$back" part && heard=yes
    said+=$part
    [[ $heard ]] && break
    kill -s 0 "$steward" || break
    kill_all "$@"
  done
  if [[ $attended && ! $heard ]] && ((!${#found[@]})); then
    kill -s KILL "$steward"
    wait "$steward"
    kill_all "$@"
  fi
  [[ $said == gone ]] || say gone "${#found[@]}"
  mark=''
}

# A script can end who attends to it.
look_after() {
  heed
  [[ $mark && $attended ]] || return
  if kill -s 0 "$steward"; then
    [[ $begun ]] || say begun ''
    begun=yes
    return
  fi
  say unseen ''
  # shellcheck disable=SC2086
  end ${live:-any}
}

# What another resident left when it died: it takes over its call.
take_over() { # MARK WORD LIVE...
  heed
  mark=$1 word=$2 separate='' attended=''
  end "${@:3}"
}

# Where the kernel counts what it killed in here.
memory=''
for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
  [[ -r $file ]] && memory=$file
done

pause() { # SECONDS
  read -r -t "$1" -u "$never"
}

session=$(type -P setsid)
hard_limit /proc/self
unmarked=$hard
read -r own </proc/$$/stat
# shellcheck disable=SC2206
own=(${own##*) })
own=${own[2]}

# A pipe may have room for no more than 4 KiB, and few notes are read.
take_notes() {
  [[ $note ]] && exec {note}>&-
  exec {note}<> <(:)
}

calls=0 note=''
exec {never}<> <(:)
employ
silent=0 part='' begun='' looked=0
while ((silent < patience)); do
  # What was heard of a line until the time was up would be lost.
  IFS= read -r -t 1 heard
  case $? in
    0) length=$part$heard part='' silent=0 ;;
    1) break ;;
    *)
      part+=$heard
      ((silent++))
      look_after
      continue
      ;;
  esac
  IFS= read -r -N "$length" request || break
  eval "$request"
  # A host that speaks all the time leaves no silence to do it in.
  ((SECONDS == looked)) || { looked=$SECONDS && look_after; }
done
[[ $mark ]] && end any
exit 0

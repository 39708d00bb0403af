# One attempt for each protection that bash alone can try; `name open` if it came through.

told() { # NAME STATUS, of an attempt that is not to succeed
  if (($2)); then echo "$1 held"; else echo "$1 open"; fi
}

pause() { # SECONDS
  [[ $never ]] || exec {never}<> <(:)
  read -r -t "$1" -u "$never"
}
never=''

while read -r name value _; do
  case $name in
    CapEff: | CapBnd:) [[ $value == 0000000000000000 ]] || capable=yes ;;
    NoNewPrivs:) fixed=$value ;;
    Seccomp:) filter=$value ;;
  esac
done </proc/self/status
[[ $capable || $fixed != 1 ]]
told privileges $?
[[ $filter != 2 ]]
told kernel_calls $?

# Who is not root may not write there anyway: so it is looked at, too.
while read -r _ target _ options _; do
  [[ $target == / ]] && root=$options
done </proc/self/mounts
{ echo x >/nacre-doctor; } 2>/dev/null || [[ ,$root, != *,ro,* ]]
told write $?
[[ -e $SECRET ]]
told read $?
{ echo x >.git/hooks/pre-commit; } 2>/dev/null

network=''
while IFS=' :' read -r name _; do
  [[ $name == Inter-* || $name == face* || $name == lo ]] || network=yes
done </proc/net/dev
[[ $network ]]
told tcp $?
[[ $network ]]
told udp $?

read -r -d '' first </proc/1/cmdline
[[ $first != *bash ]]
told view_of_others $?

# A fork that fails is tried again by bash, for many seconds, and said.
for ((n = 0; n < PROCESSES + 40; n++)); do
  [[ -e /tmp/over ]] && break
  (until [[ -e /tmp/over ]]; do pause 0.1; done) &
done 2>/tmp/failed &
for ((n = 0; n < 100; n++)); do
  pause 0.1
  running=(/proc/[0-9]*)
  ((${#running[@]} > PROCESSES + 10)) && break
  [[ -s /tmp/failed ]] && break
done
[[ ! -s /tmp/failed ]]
told process_limit $?
: >/tmp/over
wait

(printf -v much '%*s' 200000000 '') 2>/dev/null
told memory_limit $?
exit 0

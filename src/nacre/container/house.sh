# The first process of a container: ends it when it has been of no use for $1 seconds.
#
# Residents are started from outside, so no process in here is their parent. Scripts can start none
# of that kind: without a resident, whatever runs was left behind. Bash reaps the orphans that come
# to the first process.

trap 'exit 0' TERM INT
exec {never}<> <(:)

# Without `continue`: bash skips the commands of a trap that comes in the middle of one.
attended() {
  local folder fields
  for folder in /proc/[0-9]*; do
    # All of it: a name may have lines. After the name come the state and the parent.
    read -r -d '' fields <"$folder/stat"
    fields=${fields##*) }
    [[ $folder != /proc/1 && ${fields:2:2} == "0 " ]] && return 0
  done
  return 1
}

idle=0
while ((idle < $1)); do
  read -r -t 1 -u "$never"
  if attended 2>/dev/null; then idle=0; else ((idle++)); fi
done

/**
 * A shell that waits for the command, so that the first process of the namespace reaps the processes that have lost their parent. If the command
 * itself came first, a containerd whose dockerd was killed would stay a zombie, and the next dockerd would take it for a living one.
 */
const FIRST_PROCESS = 'ip link set lo up || exit 125; "$@"; exit $?'

/**
 * The command that runs `command` in network, mount and process namespaces of its own, with a loopback interface. Its exit code is that of
 * `command`; nothing of it outlives its end. Needs root.
 */
export function inOwnNamespaces(command: readonly string[]): [program: string, ...args: string[]] {
  const flags = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  return ['unshare', ...flags, 'sh', '-c', FIRST_PROCESS, 'sh', ...command]
}

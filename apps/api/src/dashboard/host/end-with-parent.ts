/**
 * Loaded before the program of a child process that has an IPC channel: the channel closes when the parent dies for any reason, and then the
 * program is asked to end, as by an operator.
 */
const GRACE_MS = 5000

function end(): void {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), GRACE_MS).unref()
}

process.once('disconnect', end)
// The program ends when its work has ended.
process.channel?.unref()
// The parent may have died before.
if (!process.connected) end()

#!/usr/bin/env node
/** The command `sandyard`. */
import { EXIT } from './exit-codes.ts'
import { run } from './run.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second one does not wait for the command to end in order.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
    interrupted.abort()
  })
}
// The reader of the output has seen enough, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(EXIT.done))

process.exit(
  await run({
    args: process.argv.slice(2),
    environment: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interrupted.signal,
  }),
)

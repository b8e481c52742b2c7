#!/usr/bin/env node
/** The command `sandyard`. */
import { EXIT } from './exit-codes.ts'
import { watchOutputs } from './lost-output.ts'
import { run } from './run.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second one does not wait for the command to end in order.
    if (interrupted.signal.aborted) process.exit(EXIT.interrupted)
    interrupted.abort()
  })
}
const args = process.argv.slice(2)
const { stdin, stdout, stderr } = process
const lost = watchOutputs({ args, stdout, stderr, exit: (code) => process.exit(code) })
const exitCode = await run({ args, environment: process.env, cwd: process.cwd(), stdin, stdout, stderr, signal: interrupted.signal })
// The failure of the last write comes after it.
await new Promise<void>((resolve) => stdout.write('', () => resolve()))
process.exit(lost.exitCodeAfter(exitCode))

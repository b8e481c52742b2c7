import { env, exit, stderr, stdout } from 'node:process'
import { describeFailure } from './describe-failure.ts'
import { runCommand } from './run-command.ts'

/** Output goes to pipes, which Node writes to at once: nothing is lost by the exit. */
async function main([command = '', request = '{}']: readonly string[]): Promise<void> {
  process.umask(0o022)
  try {
    await runCommand(command, request, { volume: import.meta.dirname, environment: env, say: (line) => void stdout.write(`${line}\n`) })
    exit(0)
  } catch (error) {
    stderr.write(`${describeFailure(error)}\n`)
    exit(1)
  }
}

void main(process.argv.slice(2))

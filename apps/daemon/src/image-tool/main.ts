import { isAppError } from '@sandyard/kit/errors/app-error'
import { env, exit, stderr, stdout } from 'node:process'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import { runCommand } from './run-command.ts'

/** Output goes to pipes, which Node writes synchronously: the exit loses nothing. */
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

/** One line for the log of a build. */
function describeFailure(error: unknown): string {
  return (isAppError(error) ? error.message : describeSystemFailure(error)).replaceAll(/\s*\n\s*/g, ' ')
}

function describeSystemFailure(error: unknown): string {
  if (errnoCode(error) === 'ENOSPC') return 'no space is left in the sandbox'
  const { path, dest } = error as { path?: unknown; dest?: unknown }
  const where = [path, dest].filter((part) => typeof part === 'string').join(' to ')
  return where === '' ? errnoText(error) : `${where}: ${errnoText(error)}`
}

void main(process.argv.slice(2))

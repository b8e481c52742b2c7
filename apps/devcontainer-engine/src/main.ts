import { appendFileSync } from 'node:fs'
import { AppError } from '@sandyard/kit/errors/app-error'
import { ConfigError } from '@sandyard/kit/config/parse-config'
import { readConfig } from './config.ts'
import { openEngine, type Engine } from './engine.ts'
import { build } from './commands/build.ts'
import { remove, start, stop } from './commands/containers.ts'
import { events } from './commands/events.ts'
import { exec } from './commands/exec.ts'
import { pull, tag } from './commands/images.ts'
import { inspect } from './commands/inspect.ts'
import { listContainers } from './commands/list-containers.ts'
import { run } from './commands/run.ts'
import { printInfo, printVersion } from './commands/version.ts'

type Command = (engine: Engine, args: readonly string[]) => Promise<void> | void

/** What `@devcontainers/cli` asks of Docker. */
const COMMANDS: Readonly<Record<string, Command>> = {
  '-v': printVersion,
  build,
  events,
  exec,
  info: printInfo,
  inspect,
  ps: listContainers,
  pull,
  rm: remove,
  run,
  start,
  stop,
  tag,
  version: printVersion,
}

async function main([name = '', ...args]: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) throw new AppError('permission_denied', 'only root may use it: run devcontainer with sudo')
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined)
    throw new AppError(
      'unimplemented',
      `docker ${name}: ${ABSENT[name] ?? 'this command is not supported. There is no Docker engine in a sandbox, only what dev containers need'}`,
    )
  await command(openEngine(readConfig(process.env), process.env), args)
}

const ABSENT: Readonly<Record<string, string>> = {
  buildx: 'there is no BuildKit: Dockerfiles are run without it',
  compose: "dev containers of Compose files are not supported: use 'image' or 'build.dockerfile' in devcontainer.json",
}

/** Commands whose errors the CLI keeps for itself. */
const UNSEEN: ReadonlySet<string> = new Set(['compose', 'pull'])

await main(process.argv.slice(2)).catch((err: unknown) => {
  const text = `Error: ${err instanceof Error ? err.message : String(err)}\n`
  process.stderr.write(text)
  const cliErrors = process.env['DEVCONTAINER_CLI_ERRORS']
  if (cliErrors !== undefined && UNSEEN.has(process.argv[2] ?? '')) tryToAppend(cliErrors, text)
  process.exit(err instanceof ConfigError ? 78 : 1)
})

/** The CLI may have a socket there, which cannot be opened. */
function tryToAppend(path: string, text: string): void {
  try {
    appendFileSync(path, text)
  } catch {
    // The same text is on standard error.
  }
}

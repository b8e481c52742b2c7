import { AppError } from '@sandyard/kit/errors/app-error'
import { flag, parseOptions, parsePairs, value } from '../command-line/parse-options.ts'
import { containerProcess } from '../containers/container-process.ts'
import { isRunning } from '../containers/main-process.ts'
import type { Engine } from '../engine.ts'

const COMMAND = 'docker exec'

const OPTIONS = {
  interactive: flag('-i', '--interactive'),
  tty: flag('-t', '--tty'),
  user: value('-u', '--user'),
  env: value('-e', '--env'),
  workdir: value('-w', '--workdir'),
}

/** Becomes the program that stands for the command: input, output, signals and exit code are the command's. */
export async function exec({ config, containers, environment }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: COMMAND, options: OPTIONS, stopsAtWord: true }, args)
  const [reference, ...command] = options.words
  if (reference === undefined || command.length === 0)
    throw new AppError('invalid_argument', `usage: ${COMMAND} [options] <container> <command>`)
  const container = await containers.get(reference)
  if (!(await isRunning(container)))
    throw new AppError('failed_precondition', `The dev container ${reference.slice(0, 12)} does not run: devcontainer up starts it`)
  const user = options.last('user')
  const workingDirectory = options.last('workdir')
  const started = await containerProcess(container, {
    proot: config.proot,
    root: containers.rootOf(container.id),
    environment: {
      ...(environment['TERM'] === undefined ? {} : { TERM: environment['TERM'] }),
      ...parsePairs(COMMAND, options.all('env'), environment),
    },
    outerEnvironment: environment,
    command,
    endsAll: false,
    ...(user === undefined ? {} : { user }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  })
  if (process.execve === undefined) throw new AppError('internal', 'This version of Node cannot start the command')
  const stream = options.has('tty') ? ['--tty'] : options.has('interactive') ? ['--input'] : []
  process.execve(config.foreground, [config.foreground, ...stream, '--', ...started.words], started.environment)
}

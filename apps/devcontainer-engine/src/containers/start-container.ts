import type { ChildProcess } from 'node:child_process'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Engine } from '../engine.ts'
import { containerProcess } from './container-process.ts'
import type { Container } from './container.ts'
import { isRunning, startMain, stopAll } from './main-process.ts'

/** Starts the main process. What an earlier one left in the container is ended before. */
export async function startContainer({ config: { proot }, containers }: Engine, container: Container): Promise<ChildProcess> {
  if (await isRunning(container)) throw new AppError('failed_precondition', `The dev container ${container.name} runs already`)
  await stopAll(container, 0)
  const command = [...(container.config.Entrypoint ?? []), ...(container.config.Cmd ?? [])]
  if (command.length === 0) throw new AppError('invalid_argument', 'The image has no command, and none is given')
  const { words, environment } = await containerProcess(container, { proot, root: containers.rootOf(container.id), command })
  const { main, child } = await startMain(words, { environment, log: containers.logOf(container.id) })
  await containers.save({ ...container, main })
  return child
}

import { lstat } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { environmentOf } from '../images/image.ts'
import { findUser } from '../root-file-system/find-user.ts'
import { DEFAULT_PATH, findOutside, proxyVariables, toWords } from '../root-file-system/root-process.ts'
import type { Container } from './container.ts'
import { MARK } from './main-process.ts'

export interface ContainerCommand {
  readonly proot: string
  readonly root: string
  readonly user?: string
  readonly workingDirectory?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Of the command of the engine: the variables of proxies count. */
  readonly outerEnvironment: NodeJS.ProcessEnv
  readonly command: readonly string[]
  /** Whether its processes in the background end with it. */
  readonly endsAll: boolean
}

/**
 * The words and the environment of a process in the container.
 *
 * @throws AppError `not_found` when there is no such user or working directory
 */
export async function containerProcess(
  { id, config, mounts }: Container,
  { proot, root, user, workingDirectory, environment, outerEnvironment, command, endsAll }: ContainerCommand,
): Promise<{ words: string[]; environment: Record<string, string> }> {
  const found = await findUser(root, user ?? config.User ?? '')
  const directory = (workingDirectory ?? config.WorkingDir) || '/'
  // proot would only warn and start in `/`.
  if ((await lstat(await findOutside(root, directory, mounts)).catch(() => undefined)) === undefined)
    throw new AppError('not_found', `The dev container has no folder ${directory}`)
  return {
    words: toWords({ proot, root, user: found, workingDirectory: directory, binds: mounts, command, endsAll }),
    environment: {
      PATH: DEFAULT_PATH,
      HOME: found.home,
      ...proxyVariables(outerEnvironment),
      ...environmentOf(config),
      ...environment,
      [MARK]: id,
    },
  }
}

import { environmentOf } from '../images/image.ts'
import { findUser } from '../root-file-system/find-user.ts'
import { DEFAULT_PATH, toWords } from '../root-file-system/root-process.ts'
import type { Container } from './container.ts'
import { MARK } from './main-process.ts'

export interface ContainerCommand {
  readonly proot: string
  readonly root: string
  readonly user?: string
  readonly workingDirectory?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly command: readonly string[]
}

/** The words and the environment of a process in the container. */
export async function containerProcess(
  { id, config, mounts }: Container,
  { proot, root, user, workingDirectory, environment, command }: ContainerCommand,
): Promise<{ words: string[]; environment: Record<string, string> }> {
  const found = await findUser(root, user ?? config.User ?? '')
  const directory = workingDirectory ?? config.WorkingDir ?? ''
  return {
    words: toWords({ proot, root, user: found, workingDirectory: directory === '' ? '/' : directory, binds: mounts, command }),
    environment: { PATH: DEFAULT_PATH, HOME: found.home, ...environmentOf(config), ...environment, [MARK]: id },
  }
}

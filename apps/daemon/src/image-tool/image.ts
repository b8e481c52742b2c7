import { join } from 'node:path'

/** The files that a command works on, and its progress output. */
export interface Image {
  /** `/` in a sandbox. */
  readonly root: string
  /** The directory of the tool, which every sandbox of the image has at the same place. */
  readonly volume: string
  /** The environment variables of the tool. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Prints one line of progress; one that begins with `warning: ` is a warning. */
  readonly say: (line: string) => void
}

/** The prefix of a build's own files in the root directory. */
export const BUILD_PREFIX = '.sandyard-'

/** The location of a path of the image. */
export function at({ root }: Image, path: string): string {
  return join(root, path)
}

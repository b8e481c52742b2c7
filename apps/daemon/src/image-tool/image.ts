import { join } from 'node:path'

/** The files that a command works on, and where it tells what it does. */
export interface Image {
  /** `/` in a sandbox. */
  readonly root: string
  /** The directory of the tool, which every sandbox of the image has at the same place. */
  readonly volume: string
  /** What the tool was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Prints one line of progress; one that begins with `warning: ` is a warning. */
  readonly say: (line: string) => void
}

/** How the names in the root directory begin that a build keeps its own files under while it runs. */
export const BUILD_PREFIX = '.sandyard-'

/** Where a path of the image is. */
export function at({ root }: Image, path: string): string {
  return join(root, path)
}

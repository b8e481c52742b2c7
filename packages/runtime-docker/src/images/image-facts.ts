import type { ImageInspectInfo } from 'dockerode'
import type { ImageFacts } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'

/** The facts of an image, with the name that callers use for it. */
export function toFacts(image: ImageRef, { Config, Size }: ImageInspectInfo): ImageFacts {
  return {
    image,
    env: toVariables(Config.Env ?? []),
    workdir: Config.WorkingDir || undefined,
    user: Config.User || undefined,
    sizeBytes: Size,
  }
}

/** An entry without "=" removes a variable. A snapshot has such entries for the variables of the daemon. */
function toVariables(entries: readonly string[]): Record<string, string> {
  const pairs = entries
    .filter((entry) => entry.indexOf('=') > 0)
    .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
  return Object.fromEntries(pairs) as Record<string, string>
}

import type { ImageInspectInfo } from 'dockerode'
import type { ImageFacts } from '@sandyard/runtime/image-store'
import type { ImageRef } from '@sandyard/runtime/types'

/** What the engine tells of an image, under the name by which it is to be used. */
export function toFacts(image: ImageRef, { Config, Size }: ImageInspectInfo): ImageFacts {
  return {
    image,
    env: toVariables(Config.Env ?? []),
    workdir: Config.WorkingDir || undefined,
    user: Config.User || undefined,
    sizeBytes: Size,
  }
}

/** An entry without "=" takes a variable away, and a snapshot has some: of what its sandbox was not to get. */
function toVariables(entries: readonly string[]): Record<string, string> {
  const pairs = entries
    .filter((entry) => entry.indexOf('=') > 0)
    .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)])
  return Object.fromEntries(pairs) as Record<string, string>
}

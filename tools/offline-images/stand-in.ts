import type { TarSource } from '../../packages/runtime-docker/src/images/tar-folders.ts'

/** The label of every image that this project made under the name of another one. An image that is built on it inherits the label. */
export const STAND_IN_LABEL = 'sandyard.stand-in'
/** The label with the hash of everything that a stand-in was made of. */
export const SOURCES_LABEL = 'sandyard.stand-in-sources'

/** Files that a build needs beside its recipe, in a place that lasts until dispose. */
export interface FetchedFiles extends AsyncDisposable {
  readonly sources: readonly TarSource[]
}

/** How a stand-in is built on `debian:bookworm-slim`. */
export interface Recipe {
  /** Contains a Dockerfile and the files that it copies. */
  readonly folder: URL
  /** Versions of what comes from the npm registry. */
  readonly versions?: Readonly<Record<string, string>>
  fetch?(onLine: (line: string) => void): Promise<FetchedFiles>
}

export interface StandIn {
  /** The name with the tag, as Dockerfiles and the Compose file spell it. */
  readonly image: string
  /** What it is made of, for people. */
  readonly madeOf: string
  /** `debian` is made by the product itself, since sandboxes need it; `none` cannot be made. */
  readonly recipe: Recipe | 'debian' | 'none'
  /** Made only when it is named. */
  readonly isOnRequest?: boolean
}

export function repositoryOf(image: string): string {
  return image.slice(0, image.lastIndexOf(':'))
}

import { posix } from 'node:path'

export interface Destination {
  /** Absolute, without `.` and `..`. */
  readonly path: string
  /** Written as a directory: the source is copied into it, even if it does not exist yet. */
  readonly isDirectory: boolean
}

export interface DestinationRequest {
  readonly destination: string
  readonly workdir: string | undefined
  readonly home: string
}

/** A relative destination starts at the working directory, or at the home if there is none. `~` is a name like any other (control-plane.md 11.5). */
export function resolveDestination({ destination, workdir, home }: DestinationRequest): Destination {
  const path = posix.resolve('/', workdir === undefined || workdir === '' ? home : workdir, destination)
  return { path, isDirectory: /(?:^|\/)(?:\.|\.\.)?$/.test(destination) }
}

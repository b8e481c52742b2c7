import { AppError } from '@sandyard/kit/errors/app-error'

/** A volume cannot be mounted at this path of a sandbox: in its image the path is a file, below one, or leads into a tree of the kernel. */
export class MountPathError extends AppError {
  readonly path: string

  constructor(path: string, cause?: unknown) {
    super('invalid_argument', `A volume cannot be mounted at '${path}': the path is no directory in the image.`, { cause })
    this.path = path
  }
}

import { AppError } from '@sandyard/kit/errors/app-error'
import { isKernelDirectory, NO_KERNEL_DIRECTORY } from '@sandyard/runtime/kernel-directory'
import type { ImageInspectInfo } from 'dockerode'

/** @throws AppError `failed_precondition` for an image whose processes would start in a tree of the kernel */
export function checkWorkdir(subject: string, { Config: { WorkingDir: path } }: ImageInspectInfo): void {
  if (path !== '' && isKernelDirectory(path)) {
    throw new AppError('failed_precondition', `${subject} cannot be used: ${NO_KERNEL_DIRECTORY}, and it has ${path.slice(0, 200)}`)
  }
}

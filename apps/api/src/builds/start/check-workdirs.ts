import { AppError } from '@sandyard/kit/errors/app-error'
import { isKernelDirectory, NO_KERNEL_DIRECTORY } from '@sandyard/runtime/kernel-directory'
import { shorten } from '../../text/shorten.ts'
import type { BuildStep } from '../build-plan.ts'

/**
 * Refuses the absolute paths of WORKDIR steps that are in a tree of the kernel. Relative ones, and those with variables, are checked when
 * the step runs (`withWorkdir`).
 *
 * @throws AppError `invalid_argument`, which names the step
 */
export function checkWorkdirs(steps: readonly Pick<BuildStep, 'type' | 'args'>[]): void {
  const bad = steps.findIndex(
    ({ type, args: [path = ''] }) => type.toUpperCase() === 'WORKDIR' && path.startsWith('/') && isKernelDirectory(path),
  )
  if (bad !== -1)
    throw new AppError(
      'invalid_argument',
      `validation error: step ${bad + 1}: WORKDIR ${shorten(steps[bad]?.args[0] ?? '')}: ${NO_KERNEL_DIRECTORY}`,
    )
}

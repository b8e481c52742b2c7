import { AppError } from '@sandyard/kit/errors/app-error'

const GB = 1024 ** 3

/** The unpacked size of all layers (control-plane.md 11.2). */
export const MAX_IMAGE_SIZE_BYTES = 25 * GB

/** @throws AppError `failed_precondition` for an image above the limit */
export function checkSize(subject: string, sizeBytes: number, maxSizeBytes: number): void {
  if (sizeBytes <= maxSizeBytes) return
  const [size, limit] = [sizeBytes, maxSizeBytes].map((bytes) => `${Math.ceil((bytes / GB) * 10) / 10} GB`)
  throw new AppError('failed_precondition', `${subject} is too large: it has ${size} unpacked, and ${limit} is the limit`)
}

import type { DescMessage } from '@bufbuild/protobuf'
import { AppError } from '@sandyard/kit/errors/app-error'

const MIB = 1024 * 1024
/** The longest path that there can be is 4 KiB. */
const FILESYSTEM_BYTES = MIB
/** What is typed or piped into a process may be long. */
const PROCESS_BYTES = 32 * MIB

/** The wire has no limits; these keep a message from taking the sandbox's memory, which it does several times over. Files travel by other routes. */
export function maxBytesOf({ typeName }: DescMessage): number {
  return typeName.startsWith('filesystem.') ? FILESYSTEM_BYTES : PROCESS_BYTES
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('resource_exhausted', `message is larger than ${Math.floor(maxBytes / MIB)} MiB`)
}

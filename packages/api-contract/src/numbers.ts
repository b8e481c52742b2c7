import { Type } from 'typebox'

const INT32_MAX = 2_147_483_647

export const CpuCount = Type.Integer({ format: 'int32', minimum: 1, description: 'CPU cores' })
export const MemoryMb = Type.Integer({ format: 'int32', minimum: 128, description: 'Memory in MiB' })
export const DiskSizeMb = Type.Integer({ format: 'int32', minimum: 0, description: 'Disk size in MiB' })

/** Seconds in requests: the schema allows zero, and each operation defines its meaning. */
export function Seconds(description: string, options: { readonly default?: number } = {}) {
  return Type.Integer({ format: 'int32', minimum: 0, maximum: INT32_MAX, description, ...options })
}

import { Type } from 'typebox'
import { Nullable } from '../nullable.ts'
import { CpuCount, DiskSizeMb, MemoryMb } from '../numbers.ts'
import { DateTime } from '../times.ts'

/** Who created a template (control-plane.md 22.2 D5). */
export const TeamUser = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Identifier of the user' }),
    email: Type.String({ description: 'Email of the user' }),
  },
  { title: 'TeamUser' },
)

export const templateID = Type.String({ description: 'Identifier of the template' })
export const isPublic = Type.Boolean({ description: 'True: public; false: accessible only by the team' })
export const names = Type.Array(Type.String(), { description: 'Names, in namespace/alias form when namespaced' })
export const aliases = Type.Array(Type.String(), { description: 'Aliases' })
export const deprecatedAliases = Type.Array(Type.String(), { deprecated: true, description: 'Names without their namespaces' })
export const envdVersion = Type.String({ description: 'Version of the in-sandbox daemon' })

/** The times and counters in every answer about a template (control-plane.md 9.1). */
export const lifeFields = {
  createdAt: DateTime('Creation time'),
  updatedAt: DateTime('Last update time'),
  lastSpawnedAt: Nullable(Type.String({ format: 'date-time', description: 'Last time the template was used' })),
  spawnCount: Type.Integer({ format: 'int64', description: 'Number of times the template was used' }),
}

/** The sizes of sandboxes of a template, and its build count. */
export const buildFields = {
  buildID: Type.String({ description: 'Identifier of the last successful build; in the answer that registers a build, of that build' }),
  cpuCount: CpuCount,
  memoryMB: MemoryMb,
  diskSizeMB: DiskSizeMb,
  createdBy: Nullable({ ...TeamUser, description: 'Creating user' }),
  buildCount: Type.Integer({ format: 'int32', description: 'Number of times the template was built' }),
  envdVersion,
}

/** Additional fields of newer clients (clients-python-2.63.md 7). */
export const defaultFields = {
  isDefault: Type.Optional(Type.Boolean({ description: 'Whether it is a default template of this server' })),
}

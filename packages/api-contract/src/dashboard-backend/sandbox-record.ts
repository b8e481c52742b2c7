import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { DateTime } from '../times.ts'

/** `GET /dashboard-api/sandboxes/{sandboxID}/record`. */
export const SandboxRecord = Type.Object(
  {
    templateID: Type.String(),
    alias: Type.Optional(Type.String({ description: 'The name that the sandbox was created from' })),
    sandboxID: Type.String(),
    startedAt: DateTime('When it was started'),
    stoppedAt: Nullable(Type.String({ format: 'date-time', description: 'When it ended; null while it lives' })),
    domain: Nullable(Type.String({ description: 'Domain of its ports' })),
    cpuCount: Type.Integer({ format: 'int32' }),
    memoryMB: Type.Integer({ format: 'int32' }),
    diskSizeMB: Type.Integer({ format: 'int32' }),
    retentionExpired: Type.Boolean({ description: 'Its log and metrics are not kept any more' }),
  },
  { title: 'SandboxRecord' },
)
export type SandboxRecord = Static<typeof SandboxRecord>

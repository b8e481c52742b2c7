import { Type, type Static } from 'typebox'
import { Seconds } from '../numbers.ts'
import { SandboxNetworkConfig } from './network.ts'
import { SandboxMetadata, SandboxVolumeMount } from './sandbox.ts'

export const NEW_SANDBOX_SECONDS = { v1: 15, v2: 300 } as const

const IamTokens = Type.Record(Type.String(), Type.Object({ audience: Type.String(), tokenType: Type.String() }))

const fields = {
  templateID: Type.String({ description: 'Template: an id, an alias or namespace/alias, with an optional :tag' }),
  autoPause: Type.Optional(Type.Boolean({ default: false, description: 'Pause instead of kill at the end time' })),
  autoPauseMemory: Type.Optional(Type.Boolean({ default: true, description: 'Whether that pause keeps memory' })),
  autoResume: Type.Optional(Type.Object({ enabled: Type.Boolean({ default: false }) })),
  allow_internet_access: Type.Optional(Type.Boolean({ description: 'False denies all egress' })),
  network: Type.Optional(SandboxNetworkConfig),
  metadata: Type.Optional(SandboxMetadata),
  envVars: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Environment of every process in the sandbox' })),
  mcp: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
  iam: Type.Optional(Type.Object({ tokens: Type.Optional(IamTokens) })),
  volumeMounts: Type.Optional(Type.Array(SandboxVolumeMount)),
}

const LIFETIME = 'Seconds until the sandbox expires'

/** Body of `POST /sandboxes` (control-plane.md 6.2.1). */
export const NewSandbox = Type.Object(
  {
    ...fields,
    timeout: Type.Optional(Seconds(LIFETIME, { default: NEW_SANDBOX_SECONDS.v1 })),
    secure: Type.Optional(Type.Boolean({ default: false, description: 'Protect the in-sandbox interface with a token' })),
  },
  { title: 'NewSandbox' },
)
export type NewSandbox = Static<typeof NewSandbox>

/** Body of `POST /v2/sandboxes`: the same fields, other defaults (clients.md 2.4). */
export const NewSandboxV2 = Type.Object(
  {
    ...fields,
    timeout: Type.Optional(Seconds(LIFETIME, { default: NEW_SANDBOX_SECONDS.v2 })),
    secure: Type.Optional(Type.Boolean({ default: true, description: 'Protect the in-sandbox interface with a token' })),
  },
  { title: 'NewSandboxV2' },
)
export type NewSandboxV2 = Static<typeof NewSandboxV2>

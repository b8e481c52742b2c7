import type { Database } from '@sandyard/db/database'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { resealSecrets } from './reseal-secrets.ts'

/** Servers that still have the former key as their newest one store values with it while a rotation is rolled out. */
const RESEAL_EVERY_MS = 300_000

export interface SecretLoopParts {
  readonly database: Database
  readonly ring: KeyRing | undefined
  readonly log: Logger
}

/** Starts the loop that completes a rotation of the key; `shutdown` stops it. */
export function startSecretLoops({ database, ring, log }: SecretLoopParts, shutdown: Shutdown): void {
  if (ring === undefined) return
  const resealing = runLoop({ name: 'secret rotation', everyMs: RESEAL_EVERY_MS, log }, async (signal) => {
    const { resealed, broken } = await resealSecrets(database, ring, signal)
    if (resealed > 0) log.info({ resealed, keyId: ring.keyId }, 'values of secrets are encrypted with the newest key')
    if (broken > 0) log.error({ broken }, 'values of secrets cannot be opened by the key that encrypted them')
  })
  shutdown.add('secret rotation', () => resealing.stop())
}

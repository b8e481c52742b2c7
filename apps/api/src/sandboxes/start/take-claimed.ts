import { within } from '@sandyard/kit/async/within'
import { isDefaultEgress } from '@sandyard/runtime/open-egress'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import { configureDaemon } from './prepare-daemon.ts'
import { publishEndpoint } from './publish-endpoint.ts'
import { sandboxSpec } from './sandbox-spec.ts'
import type { Parked } from '../../warm-pool/claim-parked.ts'
import type { Reservation, StartParts } from './start-sandbox.ts'

/** A parked sandbox answers within milliseconds. When it does not, a cold start must still fit into the deadline. */
const TIMEOUT_MS = 5000

/** Hands a claimed sandbox of the warm pool over to its create. Undefined without one, or when it does not work. */
export async function takeClaimed(parts: StartParts, reservation: Reservation): Promise<SandboxEndpoint | undefined> {
  const { parked } = reservation
  if (parked === undefined) return undefined
  try {
    await parts.timings.timePhase('claim', () =>
      parts.starts.run(reservation, (ended) =>
        within({ what: 'the hand-over of a sandbox of the warm pool', timeoutMs: TIMEOUT_MS, signal: ended }, (signal) =>
          handOver(parts, { reservation, parked }, signal),
        ),
      ),
    )
    return parked.endpoint
  } catch (err) {
    parts.log.warn({ err, sandboxId: reservation.sandboxId }, 'a sandbox of the warm pool does not work: starting another one')
    return undefined
  }
}

/** The network comes first: what the start command of the template left running must not use a wider one with the claimer's variables. */
async function handOver(
  parts: StartParts,
  { reservation, parked }: { readonly reservation: Reservation; readonly parked: Parked },
  signal: AbortSignal,
): Promise<void> {
  const { endpoint, claim } = parked
  const { egress } = sandboxSpec(reservation, parts.tokenSeed)
  if (!isDefaultEgress(egress)) {
    await parts.runtime.setEgress(reservation, egress, signal)
    await publishEndpoint(parts.database.db, reservation, { endpoint, egress })
  }
  await configureDaemon(parts, { source: reservation, endpoint, envVars: reservation.envVars, hasAnswered: true, claim }, signal)
}

import { AppError } from '@sandyard/kit/errors/app-error'
import { isDefaultEgress } from './open-egress.ts'
import type { EgressPolicy, RuntimeCapabilities, SandboxSpec } from './types.ts'

/** @throws AppError `unimplemented` for a spec that needs what the runtime does not have */
export function checkSpec({ mounts, egress }: SandboxSpec, has: RuntimeCapabilities): void {
  if (mounts.length > 0 && !has.mounts) throw new AppError('unimplemented', 'This runtime cannot mount volumes.')
  checkEgress(egress, has)
}

/** @throws AppError `unimplemented` for a policy that the runtime cannot enforce */
export function checkEgress(policy: EgressPolicy, has: RuntimeCapabilities): void {
  if (!isDefaultEgress(policy) && !has.egressPolicies) throw new AppError('unimplemented', 'This runtime has no egress policies.')
  const needsGateway = policy.gateway !== 'none' || policy.filterLookups
  if (needsGateway && has.egressGateway === undefined) throw new AppError('unimplemented', 'This runtime has no egress gateway.')
}

import { AppError } from '@sandyard/kit/errors/app-error'
import type { EgressPolicy, RuntimeCapabilities, SandboxSpec } from './types.ts'

/** @throws AppError `unimplemented` for a spec that needs what the runtime does not have */
export function checkSpec({ mounts, egress }: SandboxSpec, has: RuntimeCapabilities): void {
  if (mounts.length > 0 && !has.mounts) throw new AppError('unimplemented', 'This runtime cannot mount volumes.')
  if (!isDefault(egress) && !has.egressPolicies) throw new AppError('unimplemented', 'This runtime has no egress policies.')
}

function isDefault({ allowInternet, allowOut, denyOut }: EgressPolicy): boolean {
  return allowInternet && allowOut.length === 0 && denyOut.length === 0
}

import { ensureAccount } from './accounts/create-account.ts'
import { grantSudo, hasSudo } from './accounts/sudoers.ts'
import { ensureBash, ensureDirectories, requireShell } from './base-system.ts'
import type { Image } from './image.ts'
import { installPackages } from './packages/install-packages.ts'

export interface ProvisionRequest {
  /** The account that sandboxes act for. */
  readonly user: string
  readonly installPackages: boolean
}

/** Turns any image with a shell into a template (control-plane.md 11.2, clients.md 5). Optional parts that fail are warnings. */
export async function provision(image: Image, request: ProvisionRequest): Promise<void> {
  requireShell(image)
  ensureDirectories(image)
  if (request.installPackages) await installPackages(image)
  ensureBash(image)
  ensureAccount(image, request.user)
  if (hasSudo(image)) grantSudo(image, request.user)
}

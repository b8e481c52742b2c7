import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ensureAccount } from './accounts/create-account.ts'
import { grantSudo, hasSudo } from './accounts/sudoers.ts'
import { ensureBash } from './base-system.ts'
import { at, BUILD_PREFIX, type Image } from './image.ts'

const EVERYBODY = 0o777

/** The configuration that ends every build (control-plane.md 11.6). */
export function finalize(image: Image, { user }: { readonly user: string }): void {
  const account = ensureAccount(image, user)
  ensureBash(image)
  if (hasSudo(image)) grantSudo(image, user)
  const home = at(image, `/home/${user}`)
  mkdirSync(home, { recursive: true })
  chownSync(home, account.uid, account.gid)
  for (const path of ['/usr/local', '/code']) {
    mkdirSync(at(image, path), { recursive: true })
    openToEverybody(at(image, path))
  }
  for (const name of readdirSync(image.root).filter((entry) => entry.startsWith(BUILD_PREFIX))) {
    rmSync(at(image, name), { recursive: true, force: true })
  }
}

/** Directories only: a changed file would be stored again in the image's last layer. */
function openToEverybody(directory: string): void {
  const { mode } = statSync(directory)
  if ((mode & EVERYBODY) !== EVERYBODY) chmodSync(directory, mode | EVERYBODY)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openToEverybody(join(directory, entry.name))
  }
}

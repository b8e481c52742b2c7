import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { at, type Image } from '../image.ts'
import { findProgram } from '../packages/find-program.ts'
import { joinGroup } from './create-account.ts'
import { replaceFile } from './replace-file.ts'

const DIRECTORY = '/etc/sudoers.d'
const MODE = 0o440
/** Variables of an installation behind a proxy (docs/company-proxy.md), which sudo drops by default. The image has their names only. */
const KEPT = 'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_FILE'

export function hasSudo(image: Image): boolean {
  return findProgram(image, 'sudo') !== undefined
}

/** Lets an account run every command as any user without a password, if the image has sudo or gets it later. */
export function grantSudo(image: Image, name: string): void {
  mkdirSync(at(image, DIRECTORY), { recursive: true, mode: 0o750 })
  replaceFile(at(image, `${DIRECTORY}/${toFileName(name)}`), { text: `${name} ALL=(ALL:ALL) NOPASSWD: ALL\n`, mode: MODE })
  replaceFile(at(image, `${DIRECTORY}/sandyard`), { text: `Defaults env_keep += "${KEPT}"\n`, mode: MODE })
  includeDirectory(image)
  joinGroup(image, name, 'sudo')
}

/** Includes the directory if the file does not. The files of Debian, Alpine and Fedora include it, but one written by hand may not. */
function includeDirectory(image: Image): void {
  const file = at(image, '/etc/sudoers')
  if (!existsSync(file)) return
  const text = readFileSync(file, 'latin1')
  if (/^[@#]includedir\s+\/etc\/sudoers\.d\s*$/m.test(text)) return
  replaceFile(file, { text: `${text.replace(/\n?$/, '\n')}#includedir ${DIRECTORY}\n`, mode: MODE })
}

/** Sudo skips files with a dot in their name. */
function toFileName(name: string): string {
  return `sandyard-${name.replaceAll(/[^A-Za-z0-9_-]/g, (character) => `-${character.charCodeAt(0).toString(16)}-`)}`
}

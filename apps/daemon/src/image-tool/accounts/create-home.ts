import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { PasswdEntry } from '../../users/passwd.ts'
import { at, type Image } from '../image.ts'

const BASHRC = `# Read by interactive shells.
case $- in
  *i*) ;;
  *) return ;;
esac
PS1='\\u@\\h:\\w\\$ '
`
const PROFILE = `# Read by login shells.
if [ -n "$BASH_VERSION" ] && [ -f "$HOME/.bashrc" ]; then . "$HOME/.bashrc"; fi
if [ -d "$HOME/bin" ]; then PATH="$HOME/bin:$PATH"; fi
if [ -d "$HOME/.local/bin" ]; then PATH="$HOME/.local/bin:$PATH"; fi
`
/** The login files of bash. It reads only the first one that exists. */
const LOGIN_FILES = ['.bash_profile', '.bash_login', '.profile']

/** Creates the home of an account with the image's skeleton, and with default start files if the skeleton has none. Keeps existing files. */
export function createHome(image: Image, account: PasswdEntry): void {
  const home = at(image, account.home)
  mkdirSync(home, { recursive: true, mode: 0o755 })
  chownSync(home, account.uid, account.gid)
  const skeleton = at(image, '/etc/skel')
  if (existsSync(skeleton)) copySkeleton(skeleton, home, account)
  if (!existsSync(join(home, '.bashrc'))) writeOwned(join(home, '.bashrc'), BASHRC, account)
  if (!LOGIN_FILES.some((name) => existsSync(join(home, name)))) writeOwned(join(home, '.profile'), PROFILE, account)
}

function copySkeleton(from: string, to: string, owner: PasswdEntry): void {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    const entry = lstatSync(source)
    const existing = lstatSync(target, { throwIfNoEntry: false })
    if (existing === undefined) place(source, target)
    if (entry.isDirectory() && (existing?.isDirectory() ?? true)) copySkeleton(source, target, owner)
    if (existing === undefined) lchownSync(target, owner.uid, owner.gid)
  }

  function place(source: string, target: string): void {
    const entry = lstatSync(source)
    if (entry.isSymbolicLink()) return symlinkSync(readlinkSync(source), target)
    if (entry.isDirectory()) mkdirSync(target)
    else copyFileSync(source, target)
    chmodSync(target, entry.mode)
  }
}

function writeOwned(path: string, text: string, { uid, gid }: PasswdEntry): void {
  writeFileSync(path, text, { flag: 'wx', mode: 0o644 })
  chownSync(path, uid, gid)
}

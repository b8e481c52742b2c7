import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { at, type Image } from './image.ts'
import { findProgram } from './packages/find-program.ts'

/** Directories that every program expects and a minimal image may lack. */
const DIRECTORIES: readonly (readonly [string, number])[] = [
  ['/etc', 0o755],
  ['/home', 0o755],
  ['/root', 0o700],
  ['/tmp', 0o1777],
  ['/usr/local', 0o755],
  ['/var/tmp', 0o1777],
]

/** @throws AppError `failed_precondition` for an image that cannot run any command */
export function requireShell(image: Image): void {
  const shell = statSync(at(image, '/bin/sh'), { throwIfNoEntry: false })
  if (shell?.isFile() !== true)
    throw new AppError('failed_precondition', 'the image has no /bin/sh: templates are made of images with a shell')
}

export function ensureDirectories(image: Image): void {
  for (const [path, mode] of DIRECTORIES) {
    if (lstatSync(at(image, path), { throwIfNoEntry: false }) !== undefined) continue
    mkdirSync(at(image, path), { recursive: true })
    chmodSync(at(image, path), mode)
  }
}

/** Clients run every command in `/bin/bash`. It becomes a link to the image's own bash, or else to the static one of the tool. */
export function ensureBash(image: Image): void {
  const path = at(image, '/bin/bash')
  if (existsSync(path)) return
  const own = join(image.volume, 'bin/bash')
  const target = findProgram(image, 'bash') ?? (existsSync(own) ? own : undefined)
  if (target === undefined) {
    image.say('warning: the image has no bash, and none could be provided: commands that need it will fail')
    return
  }
  // A dangling link may have the name.
  rmSync(path, { force: true })
  symlinkSync(target, path)
}

import { constants, accessSync, statSync } from 'node:fs'
import { at, type Image } from '../image.ts'

export const PROGRAM_DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const

/** The path, within the image, of a program on the standard search path. */
export function findProgram(image: Image, name: string): string | undefined {
  return PROGRAM_DIRECTORIES.map((directory) => `${directory}/${name}`).find((path) => isExecutable(at(image, path)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

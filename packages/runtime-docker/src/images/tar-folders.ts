import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/** Entries of a folder for an archive, by their names in the folder. */
export interface TarSource {
  readonly folder: string
  readonly names: readonly string[]
}

export interface FolderArchive {
  readonly stream: Readable
  /** Undefined after success, else the program's error output. Resolves at its end. */
  readonly failure: Promise<string | undefined>
}

const KEPT_CHARS = 1000

/** An archive of whole trees by the program `tar`, with links, modes and numeric owners; `options` come first. */
export function tarFolders(sources: readonly TarSource[], options: readonly string[] = []): FolderArchive {
  const entries = sources.flatMap(({ folder, names }) => ['-C', folder, ...names])
  const tar = spawn('tar', ['--numeric-owner', ...options, '-c', ...entries], { stdio: ['ignore', 'pipe', 'pipe'] })
  let errorOutput = ''
  tar.stderr.setEncoding('utf8').on('data', (chunk: string) => (errorOutput = (errorOutput + chunk).slice(-KEPT_CHARS)))
  const failure = new Promise<string | undefined>((resolve) => {
    tar.on('close', (code) => resolve(code === 0 ? undefined : errorOutput.trim()))
    tar.on('error', (err) => resolve(err.message))
  })
  return { stream: tar.stdout, failure }
}

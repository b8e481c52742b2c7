import { AppError } from '@sandyard/kit/errors/app-error'
import { flag, parseOptions, value } from '../command-line/parse-options.ts'
import type { Engine } from '../engine.ts'

/** What the CLI compares: a version below 23 gets Dockerfiles without a `syntax` line. */
const VERSION = '1.0.0'

export function printVersion({ print }: Engine, args: readonly string[]): void {
  const options = parseOptions({ command: 'docker version', options: { format: value('--format', '-f') } }, args)
  const format = options.last('format')
  if (format !== undefined && format !== '{{.Server.Version}}') throw noFormat('docker version', format)
  print(format === undefined ? `Sandyard's engine for dev containers, version ${VERSION}. It is not Docker` : VERSION)
}

/** The CLI asks whether the engine has graphics processors. */
export function printInfo({ print }: Engine, args: readonly string[]): void {
  const options = parseOptions({ command: 'docker info', options: { format: value('--format', '-f'), quiet: flag('--quiet') } }, args)
  const format = options.last('format')
  if (format !== '{{.Runtimes.nvidia}}') throw noFormat('docker info', format ?? '')
  print('<no value>')
}

function noFormat(command: string, format: string): AppError {
  return new AppError('unimplemented', `${command}: the format '${format}' is not supported`)
}

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { flag, parseOptions, parsePairs, value } from '../command-line/parse-options.ts'
import { buildImage } from '../dockerfile/build-image.ts'
import type { Engine } from '../engine.ts'
import { onlyWord, requireOwnPlatform } from './images.ts'

const COMMAND = 'docker build'

const OPTIONS = {
  file: value('-f', '--file'),
  tag: value('-t', '--tag'),
  target: value('--target'),
  buildArg: value('--build-arg'),
  label: value('--label'),
  platform: value('--platform'),
  network: value('--network'),
  pull: flag('--pull'),
  noCache: flag('--no-cache'),
  // Only earlier builds of this sandbox are used.
  cacheFrom: value('--cache-from'),
}

export async function build({ config, images, environment, print }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: COMMAND, options: OPTIONS }, args)
  requireOwnPlatform(COMMAND, options.last('platform'))
  requireHostNetwork(COMMAND, options.last('network'))
  const context = resolve(onlyWord(COMMAND, options.words))
  const file = options.last('file') ?? join(context, 'Dockerfile')
  if (existsSync(join(context, '.dockerignore'))) print('[build] .dockerignore is not applied: COPY takes what it names')
  const image = await buildImage(images, {
    dockerfile: await readDockerfile(file),
    context,
    buildArgs: parsePairs(COMMAND, options.all('buildArg'), environment),
    labels: parsePairs(COMMAND, options.all('label')),
    target: options.last('target'),
    proot: config.proot,
    outerEnvironment: environment,
    directory: config.directory,
    fetchesAgain: options.has('pull'),
    usesEarlier: !options.has('noCache'),
    report: (line) => print(`[build] ${line}`),
  })
  for (const name of options.all('tag')) await images.name(name, image.id)
  print(image.id)
}

async function readDockerfile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new AppError('not_found', `${COMMAND}: the file ${file} cannot be read`, { cause })
  })
}

/** A dev container has the network of its sandbox. */
export function requireHostNetwork(command: string, network: string | undefined): void {
  if (network !== undefined && network !== 'host' && network !== 'default')
    throw new AppError('unimplemented', `${command}: a dev container has the network of its sandbox, and no network '${network}'`)
}

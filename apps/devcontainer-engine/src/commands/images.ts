import { AppError } from '@sandyard/kit/errors/app-error'
import { parseOptions, value } from '../command-line/parse-options.ts'
import type { Engine } from '../engine.ts'
import { ownArchitecture } from '../images/image.ts'
import { pullImage } from '../images/pull-image.ts'

export async function pull({ images, print }: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: 'docker pull', options: { platform: value('--platform') } }, args)
  requireOwnPlatform('docker pull', options.last('platform'))
  const { id } = await pullImage(images, onlyWord('docker pull', options.words))
  print(id)
}

export async function tag({ images }: Engine, args: readonly string[]): Promise<void> {
  const [source, name, ...rest] = parseOptions({ command: 'docker tag', options: {} }, args).words
  if (source === undefined || name === undefined || rest.length > 0)
    throw new AppError('invalid_argument', 'usage: docker tag <image> <name>')
  await images.name(name, (await images.get(source)).id)
}

export function requireOwnPlatform(command: string, platform: string | undefined): void {
  const own = `linux/${ownArchitecture()}`
  if (platform !== undefined && platform !== own && !platform.startsWith(`${own}/`))
    throw new AppError('unimplemented', `${command}: this sandbox runs ${own}, not ${platform}`)
}

export function onlyWord(command: string, words: readonly string[]): string {
  const [word, ...rest] = words
  if (word === undefined || rest.length > 0) throw new AppError('invalid_argument', `${command} takes one argument`)
  return word
}

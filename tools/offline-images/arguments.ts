import { repositoryOf, type StandIn } from './stand-in.ts'

export const USAGE = `usage: npm run offline-images -- [--list | --remove] [--verbose] [image ...]
Makes local stand-ins of images that cannot be pulled; without a name, of all that the Compose file names.
An image is named in full, or without its tag.`

export interface Request {
  readonly action: 'make' | 'list' | 'remove' | 'help'
  readonly standIns: readonly StandIn[]
  readonly isVerbose: boolean
}

/** @returns a sentence when the arguments are wrong */
export function parseArguments(args: readonly string[], all: readonly StandIn[]): Request | string {
  const options = args.filter((arg) => arg.startsWith('-'))
  const names = args.filter((arg) => !arg.startsWith('-'))
  const unknown = options.find((option) => !['--list', '--remove', '--verbose', '--help', '-h'].includes(option))
  if (unknown !== undefined) return `There is no option ${unknown}.`
  if (options.includes('--list') && options.includes('--remove')) return '--list and --remove exclude each other.'
  const stranger = names.find((name) => !all.some((standIn) => isNamed(standIn, name)))
  if (stranger !== undefined) return `There is no stand-in for ${stranger}, only for ${all.map(({ image }) => image).join(', ')}.`
  const isVerbose = options.includes('--verbose')
  if (options.includes('--help') || options.includes('-h')) return { action: 'help', standIns: [], isVerbose }
  const action = options.includes('--list') ? 'list' : options.includes('--remove') ? 'remove' : 'make'
  // A list or a removal concerns those on request too: they may be on the engine.
  const byDefault = all.filter(({ isOnRequest = false }) => action !== 'make' || !isOnRequest)
  const named = all.filter((standIn) => names.some((name) => isNamed(standIn, name)))
  return { action, standIns: names.length === 0 ? byDefault : named, isVerbose }
}

function isNamed({ image }: StandIn, name: string): boolean {
  return name === image || name === repositoryOf(image)
}

import type { Command, Option } from 'commander'

/** What only a server knows. */
export type LiveWanted =
  | { readonly kind: 'sandboxes'; readonly state?: 'running' | 'paused' }
  | { readonly kind: 'templates' }
  | { readonly kind: 'keys' }

/** What may stand at the cursor. */
export type Wanted = LiveWanted | { readonly kind: 'values'; readonly values: readonly Value[] } | { readonly kind: 'files' }

export interface Value {
  readonly value: string
  readonly description?: string
}

const FILES: Wanted = { kind: 'files' }
const NOTHING: Wanted = { kind: 'values', values: [] }
const STATES = { pause: 'running', resume: 'paused' } as const

/**
 * Finds in the tree of commands what may stand at the cursor.
 *
 * @param words - those after the program; the last one is at the cursor, perhaps empty
 */
export function findWanted(program: Command, words: readonly string[]): Wanted {
  const current = words.at(-1) ?? ''
  let command = program
  let positionals = 0
  let pending: Option | undefined
  for (const word of words.slice(0, -1)) {
    if (pending !== undefined) pending = undefined
    else if (word === '--') return FILES
    else if (word.startsWith('-')) pending = takesValue(findOption(program, command, word), word)
    else {
      const sub = positionals === 0 ? findCommand(command, word) : undefined
      if (sub === undefined) positionals += 1
      else command = sub
    }
  }
  if (pending !== undefined) return ofOption(pending)
  if (current.startsWith('-')) return { kind: 'values', values: listOptions(program, command) }
  if (command.commands.length > 0 && positionals === 0) return { kind: 'values', values: listCommands(command) }
  return ofArgument(command, positionals)
}

function findCommand(command: Command, name: string): Command | undefined {
  return command.commands.find((sub) => sub.name() === name || sub.aliases().includes(name))
}

function findOption(program: Command, command: Command, word: string): Option | undefined {
  return [...command.options, ...program.options].find((option) => option.long === word || option.short === word)
}

/** The option if the next word is its value. */
function takesValue(option: Option | undefined, word: string): Option | undefined {
  return option !== undefined && !word.includes('=') && (option.required || option.optional) ? option : undefined
}

function ofOption({ argChoices, long }: Option): Wanted {
  if (argChoices !== undefined) return { kind: 'values', values: argChoices.map((value) => ({ value })) }
  if (long === '--template') return { kind: 'templates' }
  return FILES
}

function listOptions(program: Command, command: Command): Value[] {
  return [...new Set([...command.options, ...program.options])]
    .filter(({ hidden, long }) => !hidden && long !== undefined)
    .map(({ long, description }) => ({ value: long ?? '', description }))
    .concat({ value: '--help', description: 'display help for command' })
}

function listCommands(command: Command): Value[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((sub) => ({ value: sub.name(), description: sub.description() }))
}

function ofArgument(command: Command, position: number): Wanted {
  const last = command.registeredArguments.at(-1)
  const argument = command.registeredArguments[position] ?? (last?.variadic === true ? last : undefined)
  if (argument === undefined) return NOTHING
  if (argument.argChoices !== undefined) return { kind: 'values', values: argument.argChoices.map((value) => ({ value })) }
  if (!/^ids?$/.test(argument.name())) return FILES
  if (command.parent?.name() === 'keys') return { kind: 'keys' }
  const name = command.name()
  return { kind: 'sandboxes', ...(name in STATES && { state: STATES[name as keyof typeof STATES] }) }
}

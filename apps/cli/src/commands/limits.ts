import { type Command, InvalidArgumentError } from 'commander'
import type { CliParts } from '../cli-parts.ts'
import type { LimitOptions } from '../teams/change-limits.ts'
import { DEFAULT, LIMITS } from '../teams/limit-options.ts'

/** The limits of a team, in the database: the API changes them for administrators only. */
export function registerLimits(program: Command, parts: CliParts): void {
  const limits = program
    .command('limits')
    .description("show or change the limits of a team; 'default' is that of the server's settings; needs the database")
    .option('--team <team>', 'slug or id of the team; that of the current key when absent')
  for (const [name, { argument, doc, read }] of Object.entries(LIMITS)) {
    limits.option(`--${name} ${argument}`, doc, (text) => (text === DEFAULT ? DEFAULT : checked(read(text))))
  }
  limits.action(async (options: LimitOptions) => {
    const { changeLimits } = await import('../teams/change-limits.ts')
    await changeLimits(parts, options)
  })
}

function checked(value: number | undefined): number {
  if (value === undefined) throw new InvalidArgumentError("It must be 'default' or a value within the bounds of docs/limits.md.")
  return value
}

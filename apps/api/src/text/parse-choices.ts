import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * The parts of a text with commas, each of which must be one of `choices`.
 *
 * @param noun - what a choice is called in the message
 * @throws AppError `invalid_argument`
 */
export function parseChoices<T extends string>(text: string, noun: string, choices: readonly T[]): readonly T[] {
  return text.split(',').map((part) => {
    const choice = choices.find((name) => name === part)
    if (choice === undefined) throw new AppError('invalid_argument', `There is no ${noun} "${part}": ${choices.join(', ')}`)
    return choice
  })
}

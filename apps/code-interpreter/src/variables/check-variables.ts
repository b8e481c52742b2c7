import { AppError } from '@sandyard/kit/errors/app-error'
import type { Variables } from './kernel-variables.ts'

/** @throws AppError `invalid_argument` for what no process can have as a variable */
export function checkVariables(variables: Variables): void {
  for (const [name, value] of Object.entries(variables)) {
    if (name === '' || /[=\0]/.test(name))
      throw new AppError('invalid_argument', `${JSON.stringify(name)} cannot be the name of a variable`)
    if (value.includes('\0')) throw new AppError('invalid_argument', `The variable ${name} has a character with the number 0`)
  }
}

import { AppError } from '@sandyard/kit/errors/app-error'

/** A field of a request asks for what this server cannot do yet. */
export class UnservedFieldError extends AppError {
  readonly field: string

  constructor(field: string) {
    super('unimplemented', `This server does not support the field '${field}' yet: leave it out or at its default.`)
    this.field = field
  }
}

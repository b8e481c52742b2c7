import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * A request uses a field that this server does not support yet. The field name is a metric label, so it must be a field of the interface.
 */
export class UnservedFieldError extends AppError {
  readonly field: string

  constructor(field: string) {
    super('unimplemented', `This server does not support the field '${field}' yet: leave it out or at its default.`)
    this.field = field
  }
}

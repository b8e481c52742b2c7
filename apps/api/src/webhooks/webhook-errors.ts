import { AppError } from '@sandyard/kit/errors/app-error'

export function webhookNotFound(webhookId: string): AppError {
  return new AppError('not_found', `Webhook '${webhookId}' not found`)
}

export function deliveryNotFound(deliveryId: string): AppError {
  return new AppError('not_found', `Delivery '${deliveryId}' not found`)
}

export function invalidWebhook(detail: string): AppError {
  return new AppError('invalid_argument', `Invalid webhook: ${detail}`)
}

export function webhooksAreOff(): AppError {
  return new AppError('unimplemented', 'Webhooks are off on this server: set SANDYARD_SECRETS_KEY, which encrypts their signing secrets.')
}

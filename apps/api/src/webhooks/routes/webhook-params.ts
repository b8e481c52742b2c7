import { Type } from 'typebox'

export const WebhookParams = Type.Object({ webhookID: Type.String() })

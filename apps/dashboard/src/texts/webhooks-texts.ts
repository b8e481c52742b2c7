/** The texts of screens/webhooks. */
export const webhooksTexts = {
  title: 'Webhooks',
}

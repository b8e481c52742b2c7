/** The texts of screens/templates. */
export const templatesTexts = {
  title: 'Templates',
}

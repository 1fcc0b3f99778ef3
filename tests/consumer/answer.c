/* A user's C program: the header is C99, and an error arrives as a text. */
#include <lamina/lamina.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  lamina_model* model = lamina_load("/absent/model");
  if (model != NULL || strstr(lamina_error(), "/absent/model") == NULL) {
    printf("an absent file gives the error '%s'\n", lamina_error());
    return 1;
  }
  lamina_free(model);
  printf("lamina %s: %s\n", lamina_version(), lamina_error());
  return 0;
}

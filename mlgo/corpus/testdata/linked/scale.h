#define SCALE 3

#ifdef __cplusplus
extern "C"
#endif
int scale(int a);
